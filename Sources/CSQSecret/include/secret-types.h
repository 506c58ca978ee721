#pragma once
#include "gio-types.h"

// The types of libsecret, as its headers declare them.

typedef struct _SecretValue SecretValue;

typedef struct _SecretServicePrivate SecretServicePrivate;
typedef struct _SecretService SecretService;
struct _SecretService {
  GDBusProxy parent;
  SecretServicePrivate *pv;
};

typedef struct _SecretCollectionPrivate SecretCollectionPrivate;
typedef struct _SecretCollection SecretCollection;
struct _SecretCollection {
  GDBusProxy parent;
  SecretCollectionPrivate *pv;
};

typedef struct _SecretItemPrivate SecretItemPrivate;
typedef struct _SecretItem SecretItem;
struct _SecretItem {
  GDBusProxy parent_instance;
  SecretItemPrivate *pv;
};

typedef struct _SecretPromptPrivate SecretPromptPrivate;
typedef struct _SecretPrompt SecretPrompt;
struct _SecretPrompt {
  GDBusProxy parent_instance;
  SecretPromptPrivate *pv;
};

typedef struct _SecretServiceClass SecretServiceClass;
struct _SecretServiceClass {
  GDBusProxyClass parent_class;
  GType collection_gtype;
  GType item_gtype;
  GVariant *(*prompt_sync)(SecretService *self, SecretPrompt *prompt, GCancellable *cancellable,
                           const GVariantType *type, GError **error);
  void (*prompt_async)(SecretService *self, SecretPrompt *prompt, const GVariantType *type,
                       GCancellable *cancellable, GAsyncReadyCallback callback, gpointer data);
  GVariant *(*prompt_finish)(SecretService *self, GAsyncResult *result, GError **error);
  GType (*get_collection_gtype)(SecretService *self);
  GType (*get_item_gtype)(SecretService *self);
  gpointer padding[14];
};

typedef enum { SECRET_SCHEMA_ATTRIBUTE_STRING = 0 } SecretSchemaAttributeType;

typedef struct {
  const gchar *name;
  SecretSchemaAttributeType type;
} SecretSchemaAttribute;

typedef enum { SECRET_SCHEMA_DONT_MATCH_NAME = 1 << 1 } SecretSchemaFlags;

typedef struct {
  const gchar *name;
  SecretSchemaFlags flags;
  SecretSchemaAttribute attributes[32];
  gint reserved;
  gpointer reserved1;
  gpointer reserved2;
  gpointer reserved3;
  gpointer reserved4;
  gpointer reserved5;
  gpointer reserved6;
  gpointer reserved7;
} SecretSchema;

typedef enum { SECRET_SEARCH_ALL = 1 << 1 } SecretSearchFlags;
typedef enum { SECRET_COLLECTION_NONE = 0 } SecretCollectionFlags;
typedef enum { SECRET_COLLECTION_CREATE_NONE = 0 } SecretCollectionCreateFlags;
typedef enum { SECRET_SERVICE_OPEN_SESSION = 1 << 1 } SecretServiceFlags;
typedef enum { SECRET_ERROR_IS_LOCKED = 2, SECRET_ERROR_NO_SUCH_OBJECT = 3 } SecretError;
