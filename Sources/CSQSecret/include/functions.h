// The functions of GLib, GIO and libsecret that the keyring store calls, in one list for several
// uses. A file that includes this list must first define SQ_FUNCTION(result, name, parameters).

// GLib

SQ_FUNCTION(void, g_free, (gpointer memory))
SQ_FUNCTION(gchar *, g_strdup, (const gchar *text))

SQ_FUNCTION(void, g_error_free, (GError *error))
SQ_FUNCTION(void, g_set_error_literal,
            (GError **error, GQuark domain, gint code, const gchar *message))
SQ_FUNCTION(const gchar *, g_quark_to_string, (GQuark quark))

SQ_FUNCTION(GList *, g_list_prepend, (GList *list, gpointer data))
SQ_FUNCTION(void, g_list_free, (GList *list))

SQ_FUNCTION(GHashTable *, g_hash_table_new_full,
            (GHashFunc hash, GEqualFunc equal, GDestroyNotify destroy_key,
             GDestroyNotify destroy_value))
SQ_FUNCTION(gboolean, g_hash_table_insert, (GHashTable *table, gpointer key, gpointer value))
SQ_FUNCTION(gpointer, g_hash_table_lookup, (GHashTable *table, gconstpointer key))
SQ_FUNCTION(void, g_hash_table_unref, (GHashTable *table))
SQ_FUNCTION(guint, g_str_hash, (gconstpointer text))
SQ_FUNCTION(gboolean, g_str_equal, (gconstpointer text, gconstpointer other))

SQ_FUNCTION(GMainContext *, g_main_context_new, (void))
SQ_FUNCTION(void, g_main_context_unref, (GMainContext *context))
SQ_FUNCTION(void, g_main_context_push_thread_default, (GMainContext *context))
SQ_FUNCTION(void, g_main_context_pop_thread_default, (GMainContext *context))
SQ_FUNCTION(gboolean, g_main_context_iteration, (GMainContext *context, gboolean may_block))
SQ_FUNCTION(void, g_main_context_wakeup, (GMainContext *context))

SQ_FUNCTION(GSource *, g_timeout_source_new, (guint milliseconds))
SQ_FUNCTION(guint, g_source_attach, (GSource *source, GMainContext *context))
SQ_FUNCTION(void, g_source_set_callback,
            (GSource *source, GSourceFunc function, gpointer data, GDestroyNotify destroy))
SQ_FUNCTION(void, g_source_destroy, (GSource *source))
SQ_FUNCTION(void, g_source_unref, (GSource *source))

SQ_FUNCTION(void, g_variant_unref, (GVariant *value))
SQ_FUNCTION(gsize, g_variant_n_children, (GVariant *value))
SQ_FUNCTION(GVariant *, g_variant_get_child_value, (GVariant *value, gsize index))
SQ_FUNCTION(const gchar *, g_variant_get_string, (GVariant *value, gsize *length))
SQ_FUNCTION(gboolean, g_variant_is_of_type, (GVariant *value, const GVariantType *type))
SQ_FUNCTION(GVariant *, g_variant_parse,
            (const GVariantType *type, const gchar *text, const gchar *limit, const gchar **end,
             GError **error))

// GObject

SQ_FUNCTION(gpointer, g_object_ref, (gpointer object))
SQ_FUNCTION(void, g_object_unref, (gpointer object))
SQ_FUNCTION(void, g_object_set, (gpointer object, const gchar *first_property, ...))
SQ_FUNCTION(gpointer, g_type_class_ref, (GType type))
SQ_FUNCTION(gpointer, g_type_class_peek_static, (GType type))
SQ_FUNCTION(gboolean, g_type_check_instance_is_a, (GTypeInstance *instance, GType type))
SQ_FUNCTION(GType, g_type_register_static_simple,
            (GType parent, const gchar *name, guint class_size, GClassInitFunc class_init,
             guint instance_size, GInstanceInitFunc instance_init, GTypeFlags flags))

// GIO

SQ_FUNCTION(GCancellable *, g_cancellable_new, (void))
SQ_FUNCTION(void, g_cancellable_cancel, (GCancellable *cancellable))

SQ_FUNCTION(GTask *, g_task_new,
            (gpointer source, GCancellable *cancellable, GAsyncReadyCallback callback,
             gpointer data))
SQ_FUNCTION(void, g_task_set_check_cancellable, (GTask *task, gboolean check))
SQ_FUNCTION(void, g_task_return_pointer, (GTask *task, gpointer result, GDestroyNotify destroy))
SQ_FUNCTION(void, g_task_return_error, (GTask *task, GError *error))
SQ_FUNCTION(gpointer, g_task_propagate_pointer, (GTask *task, GError **error))

SQ_FUNCTION(gpointer, g_initable_new,
            (GType type, GCancellable *cancellable, GError **error, const gchar *first_property,
             ...))
SQ_FUNCTION(GQuark, g_io_error_quark, (void))
SQ_FUNCTION(GQuark, g_dbus_error_quark, (void))
SQ_FUNCTION(gchar *, g_dbus_error_get_remote_error, (const GError *error))

SQ_FUNCTION(gchar *, g_dbus_address_get_for_bus_sync,
            (GBusType bus, GCancellable *cancellable, GError **error))
SQ_FUNCTION(GIOStream *, g_dbus_address_get_stream_sync,
            (const gchar *address, gchar **guid, GCancellable *cancellable, GError **error))
SQ_FUNCTION(GType, g_socket_get_type, (void))
SQ_FUNCTION(GType, g_socket_connection_get_type, (void))
SQ_FUNCTION(GSocket *, g_socket_connection_get_socket, (GSocketConnection *connection))
SQ_FUNCTION(gboolean, g_socket_shutdown,
            (GSocket *socket, gboolean reading, gboolean writing, GError **error))
SQ_FUNCTION(GDBusConnection *, g_dbus_connection_new_sync,
            (GIOStream *stream, const gchar *guid, GDBusConnectionFlags flags,
             GDBusAuthObserver *observer, GCancellable *cancellable, GError **error))
SQ_FUNCTION(gboolean, g_dbus_connection_close_sync,
            (GDBusConnection *connection, GCancellable *cancellable, GError **error))
SQ_FUNCTION(gboolean, g_dbus_connection_is_closed, (GDBusConnection *connection))
SQ_FUNCTION(GVariant *, g_dbus_connection_call_sync,
            (GDBusConnection *connection, const gchar *name, const gchar *path,
             const gchar *interface, const gchar *method, GVariant *parameters,
             const GVariantType *type, GDBusCallFlags flags, gint milliseconds,
             GCancellable *cancellable, GError **error))
SQ_FUNCTION(gchar *, g_dbus_proxy_get_name_owner, (GDBusProxy *proxy))
SQ_FUNCTION(const gchar *, g_dbus_proxy_get_object_path, (GDBusProxy *proxy))
SQ_FUNCTION(GVariant *, g_dbus_proxy_get_cached_property,
            (GDBusProxy *proxy, const gchar *property))
SQ_FUNCTION(void, g_dbus_proxy_set_default_timeout, (GDBusProxy *proxy, gint milliseconds))

// libsecret

SQ_FUNCTION(GQuark, secret_error_get_quark, (void))
SQ_FUNCTION(GType, secret_service_get_type, (void))

SQ_FUNCTION(SecretCollection *, secret_collection_for_alias_sync,
            (SecretService *service, const gchar *alias, SecretCollectionFlags flags,
             GCancellable *cancellable, GError **error))
SQ_FUNCTION(SecretCollection *, secret_collection_new_for_dbus_path_sync,
            (SecretService *service, const gchar *path, SecretCollectionFlags flags,
             GCancellable *cancellable, GError **error))
SQ_FUNCTION(SecretCollection *, secret_collection_create_sync,
            (SecretService *service, const gchar *label, const gchar *alias,
             SecretCollectionCreateFlags flags, GCancellable *cancellable, GError **error))
SQ_FUNCTION(gboolean, secret_collection_get_locked, (SecretCollection *collection))

SQ_FUNCTION(GList *, secret_service_search_sync,
            (SecretService *service, const SecretSchema *schema, GHashTable *attributes,
             SecretSearchFlags flags, GCancellable *cancellable, GError **error))
SQ_FUNCTION(gboolean, secret_service_store_sync,
            (SecretService *service, const SecretSchema *schema, GHashTable *attributes,
             const gchar *collection, const gchar *label, SecretValue *value,
             GCancellable *cancellable, GError **error))
SQ_FUNCTION(void, secret_service_unlock,
            (SecretService *service, GList *objects, GCancellable *cancellable,
             GAsyncReadyCallback callback, gpointer data))
SQ_FUNCTION(gint, secret_service_unlock_finish,
            (SecretService *service, GAsyncResult *result, GList **unlocked, GError **error))

SQ_FUNCTION(gboolean, secret_item_delete_sync,
            (SecretItem *item, GCancellable *cancellable, GError **error))
SQ_FUNCTION(GHashTable *, secret_item_get_attributes, (SecretItem *item))
SQ_FUNCTION(gboolean, secret_item_get_locked, (SecretItem *item))
SQ_FUNCTION(guint64, secret_item_get_modified, (SecretItem *item))
SQ_FUNCTION(SecretValue *, secret_item_get_secret, (SecretItem *item))
SQ_FUNCTION(gboolean, secret_item_load_secrets_sync,
            (GList *items, GCancellable *cancellable, GError **error))
SQ_FUNCTION(gboolean, secret_item_set_secret_sync,
            (SecretItem *item, SecretValue *value, GCancellable *cancellable, GError **error))

SQ_FUNCTION(void, secret_prompt_perform,
            (SecretPrompt *prompt, const gchar *window, const GVariantType *type,
             GCancellable *cancellable, GAsyncReadyCallback callback, gpointer data))
SQ_FUNCTION(GVariant *, secret_prompt_perform_finish,
            (SecretPrompt *prompt, GAsyncResult *result, GError **error))

SQ_FUNCTION(SecretValue *, secret_value_new,
            (const gchar *secret, gssize length, const gchar *content_type))
SQ_FUNCTION(const gchar *, secret_value_get, (SecretValue *value, gsize *length))
SQ_FUNCTION(void, secret_value_unref, (gpointer value))
