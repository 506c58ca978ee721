#pragma once

// A SecretService that differs from libsecret's in two ways, which only a subclass can: it is given
// its D-Bus connection, and a prompt always ends. Its calls have no limit of their own, which would
// be 25 s; the caller's is set by the cancellable.

static inline gpointer sq_secret_service_parent(void) {
  return g_type_class_peek_static(secret_service_get_type());
}

static inline GObject *sq_secret_service_construct(GType type, guint count,
                                                   GObjectConstructParam *parameters) {
  GObjectClass *parent = (GObjectClass *)sq_secret_service_parent();
  GObject *service = parent->constructor(type, count, parameters);
  // The parent has just chosen the connection that the process shares.
  g_object_set(service, "g-bus-type", G_BUS_TYPE_NONE, NULL);
  return service;
}

/// Makes an error of a prompt that ended without an answer, because the keyring went away.
///
/// libsecret 0.20 takes neither an answer nor an error for a sign to wait, and does so for ever.
static inline GVariant *sq_prompt_answer(GVariant *answer, GError **error) {
  if (answer == NULL && error != NULL && *error == NULL)
    g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "the prompt has no answer");
  return answer;
}

static inline GVariant *sq_prompt_sync(SecretService *self, SecretPrompt *prompt,
                                       GCancellable *cancellable, const GVariantType *type,
                                       GError **error) {
  SecretServiceClass *parent = (SecretServiceClass *)sq_secret_service_parent();
  return sq_prompt_answer(parent->prompt_sync(self, prompt, cancellable, type, error), error);
}

static inline void sq_prompt_done(GObject *prompt, GAsyncResult *result, gpointer task) {
  GError *error = NULL;
  GVariant *answer = secret_prompt_perform_finish((SecretPrompt *)prompt, result, &error);
  if (sq_prompt_answer(answer, &error) != NULL)
    g_task_return_pointer((GTask *)task, answer, (GDestroyNotify)g_variant_unref);
  else
    g_task_return_error((GTask *)task, error);
  g_object_unref(task);
}

static inline void sq_prompt_async(SecretService *self, SecretPrompt *prompt,
                                   const GVariantType *type, GCancellable *cancellable,
                                   GAsyncReadyCallback callback, gpointer data) {
  GTask *task = g_task_new(self, cancellable, callback, data);
  // A prompt that is cancelled ends by being dismissed.
  g_task_set_check_cancellable(task, 0);
  secret_prompt_perform(prompt, NULL, type, cancellable, sq_prompt_done, task);
}

static inline GVariant *sq_prompt_finish(SecretService *self, GAsyncResult *result,
                                         GError **error) {
  return (GVariant *)g_task_propagate_pointer((GTask *)result, error);
}

static inline void sq_secret_service_class(gpointer type, gpointer data) {
  ((GObjectClass *)type)->constructor = sq_secret_service_construct;
  ((SecretServiceClass *)type)->prompt_sync = sq_prompt_sync;
  ((SecretServiceClass *)type)->prompt_async = sq_prompt_async;
  ((SecretServiceClass *)type)->prompt_finish = sq_prompt_finish;
}

static inline GType sq_secret_service_type(void) {
  static gsize type = 0;
  if (g_once_init_enter(&type)) {
    GType made = g_type_register_static_simple(
        secret_service_get_type(), "SQSecretService", sizeof(SecretServiceClass),
        sq_secret_service_class, sizeof(SecretService), NULL, (GTypeFlags)0);
    g_once_init_leave(&type, made);
  }
  return type;
}

/// `secret_service_open_sync` on a connection of the caller's, with prompts that end.
static inline SecretService *sq_secret_service_open(GDBusConnection *connection,
                                                    GCancellable *cancellable, GError **error) {
  return (SecretService *)g_initable_new(sq_secret_service_type(), cancellable, error,
                                         "g-connection", connection, "g-default-timeout",
                                         G_MAXINT, "flags",
                                         SECRET_SERVICE_OPEN_SESSION, NULL);
}
