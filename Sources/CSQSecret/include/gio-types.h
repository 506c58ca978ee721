#pragma once
#include "glib-types.h"

// The types of GIO, as its headers declare them.

typedef struct _GAsyncResult GAsyncResult;
typedef struct _GDBusAuthObserver GDBusAuthObserver;
typedef struct _GDBusConnection GDBusConnection;
typedef struct _GIOStream GIOStream;
typedef struct _GSocket GSocket;
typedef struct _GSocketConnection GSocketConnection;
typedef struct _GTask GTask;
typedef void (*GAsyncReadyCallback)(GObject *source, GAsyncResult *result, gpointer data);

typedef struct _GCancellablePrivate GCancellablePrivate;
typedef struct _GCancellable GCancellable;
struct _GCancellable {
  GObject parent_instance;
  GCancellablePrivate *priv;
};

typedef struct _GDBusProxyPrivate GDBusProxyPrivate;
typedef struct _GDBusProxy GDBusProxy;
struct _GDBusProxy {
  GObject parent_instance;
  GDBusProxyPrivate *priv;
};

typedef struct _GDBusProxyClass GDBusProxyClass;
struct _GDBusProxyClass {
  GObjectClass parent_class;
  void (*g_properties_changed)(GDBusProxy *proxy, GVariant *changed,
                               const gchar *const *invalidated);
  void (*g_signal)(GDBusProxy *proxy, const gchar *sender, const gchar *signal,
                   GVariant *parameters);
  gpointer padding[32];
};

typedef enum { G_BUS_TYPE_NONE = 0, G_BUS_TYPE_SESSION = 2 } GBusType;

typedef enum {
  G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT = 1 << 0,
  G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION = 1 << 3
} GDBusConnectionFlags;

typedef enum { G_DBUS_CALL_FLAGS_NONE = 0 } GDBusCallFlags;

typedef enum { G_DBUS_PROXY_FLAGS_DO_NOT_CONNECT_SIGNALS = 1 << 1 } GDBusProxyFlags;

typedef enum {
  G_IO_ERROR_CLOSED = 18,
  G_IO_ERROR_CANCELLED = 19,
  G_IO_ERROR_TIMED_OUT = 24,
  G_IO_ERROR_CONNECTION_CLOSED = 44
} GIOErrorEnum;

typedef enum {
  G_DBUS_ERROR_SERVICE_UNKNOWN = 2,
  G_DBUS_ERROR_NAME_HAS_NO_OWNER = 3,
  G_DBUS_ERROR_NO_REPLY = 4,
  G_DBUS_ERROR_ACCESS_DENIED = 9,
  G_DBUS_ERROR_TIMEOUT = 12,
  G_DBUS_ERROR_DISCONNECTED = 15,
  G_DBUS_ERROR_UNKNOWN_METHOD = 19,
  G_DBUS_ERROR_TIMED_OUT = 20,
  G_DBUS_ERROR_SPAWN_EXEC_FAILED = 23,
  G_DBUS_ERROR_SPAWN_CHILD_EXITED = 25,
  G_DBUS_ERROR_SPAWN_FAILED = 27,
  G_DBUS_ERROR_SPAWN_SERVICE_NOT_FOUND = 31,
  G_DBUS_ERROR_UNKNOWN_OBJECT = 41
} GDBusError;
