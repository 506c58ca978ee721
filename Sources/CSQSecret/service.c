#include "service.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>

// A SecretService that differs from libsecret's in three ways, which need a subclass: its D-Bus
// connection is passed in, a prompt ends if the keyring's program ends, and no prompt is dismissed.
// D-Bus's time limit of 25 s does not apply to its calls. The caller ends them with the
// cancellable, which does not end a prompt.
//
// libsecret dismisses a prompt that is cancelled. GNOME Keyring 42 to 50 then aborts with a failed
// assertion, and the keyrings of all programs are locked again when it restarts.

/// The functions of the library for which the class was registered.
static const SQSecretFunctions *secret;
/// The class, or 0 until it is registered.
static GType class;

static gpointer parent_class(void) {
  return secret->g_type_class_peek_static(secret->secret_service_get_type());
}

static GObject *construct(GType type, guint count, GObjectConstructParam *parameters) {
  GObjectClass *parent = (GObjectClass *)parent_class();
  GObject *service = parent->constructor(type, count, parameters);
  // The parent class has just chosen the process's shared connection. Undo that.
  secret->g_object_set(service, "g-bus-type", G_BUS_TYPE_NONE, NULL);
  return service;
}

/// Adds an error if a prompt ended without an answer because the keyring's program ended.
///
/// Without an answer and an error, libsecret 0.20 would wait forever.
static GVariant *prompt_answer(GVariant *answer, GError **error) {
  if (answer == NULL && error != NULL && *error == NULL)
    secret->g_set_error_literal(error, secret->g_io_error_quark(), G_IO_ERROR_CANCELLED,
                                "the prompt has no answer");
  return answer;
}

static GVariant *prompt_sync(SecretService *self, SecretPrompt *prompt, GCancellable *cancellable,
                             const GVariantType *type, GError **error) {
  SecretServiceClass *parent = (SecretServiceClass *)parent_class();
  return prompt_answer(parent->prompt_sync(self, prompt, NULL, type, error), error);
}

static void prompt_done(GObject *prompt, GAsyncResult *result, gpointer task) {
  GError *error = NULL;
  GVariant *answer = secret->secret_prompt_perform_finish((SecretPrompt *)prompt, result, &error);
  if (prompt_answer(answer, &error) != NULL)
    secret->g_task_return_pointer((GTask *)task, answer, (GDestroyNotify)secret->g_variant_unref);
  else
    secret->g_task_return_error((GTask *)task, error);
  secret->g_object_unref(task);
}

static void prompt_async(SecretService *self, SecretPrompt *prompt, const GVariantType *type,
                         GCancellable *cancellable, GAsyncReadyCallback callback, gpointer data) {
  GTask *task = secret->g_task_new(self, cancellable, callback, data);
  // The task ends when the prompt ends, not when the call is cancelled.
  secret->g_task_set_check_cancellable(task, 0);
  secret->secret_prompt_perform(prompt, NULL, type, NULL, prompt_done, task);
}

static GVariant *prompt_finish(SecretService *self, GAsyncResult *result, GError **error) {
  return (GVariant *)secret->g_task_propagate_pointer((GTask *)result, error);
}

static void prepare_class(gpointer type, gpointer data) {
  ((GObjectClass *)type)->constructor = construct;
  ((SecretServiceClass *)type)->prompt_sync = prompt_sync;
  ((SecretServiceClass *)type)->prompt_async = prompt_async;
  ((SecretServiceClass *)type)->prompt_finish = prompt_finish;
}

/// Prepares GLib's sockets, which makes the process ignore SIGPIPE, and undoes that.
///
/// The SDK's host and its child processes may rely on the signal. GLib's sockets do not need it to
/// be ignored.
static void prepare_sockets(void) {
  struct sigaction action;
  int is_known = sigaction(SIGPIPE, NULL, &action) == 0;
  secret->g_type_class_ref(secret->g_socket_get_type());
  if (is_known) sigaction(SIGPIPE, &action, NULL);
}

void sq_secret_service_register(const SQSecretFunctions *functions) {
  if (secret != NULL) return;
  secret = functions;
  prepare_sockets();
  // The name contains a memory address, because the process may contain another copy of the SDK,
  // for example in a plugin.
  char name[sizeof "SQSecretService" + 20];
  snprintf(name, sizeof name, "SQSecretService%p", (void *)&class);
  class = secret->g_type_register_static_simple(
      secret->secret_service_get_type(), name, sizeof(SecretServiceClass), prepare_class,
      sizeof(SecretService), NULL, G_TYPE_FLAG_NONE);
}

SecretService *sq_secret_service_open(GDBusConnection *connection, GCancellable *cancellable,
                                      GError **error) {
  // Do not connect the service to its D-Bus signals. The service may exist as long as the process,
  // and the signals would collect in memory between calls.
  return (SecretService *)secret->g_initable_new(
      class, cancellable, error, "g-connection", connection, "g-default-timeout", G_MAXINT,
      "g-flags", G_DBUS_PROXY_FLAGS_DO_NOT_CONNECT_SIGNALS, "flags", SECRET_SERVICE_OPEN_SESSION,
      NULL);
}
