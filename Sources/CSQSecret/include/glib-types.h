#pragma once
#include <stdint.h>

// The types of GLib and GObject that this module uses, as their headers declare them.
//
// The types of GLib, GIO and libsecret are declared in this module so that no build needs those
// headers. The headers are in folders that only pkg-config can name, and GLib's flags in pkg-config
// make SwiftPM warn in every build of every app. A test compiles these declarations together with
// the real ones.

typedef char gchar;
typedef int gint;
typedef gint gboolean;
typedef unsigned int guint;
typedef unsigned long gsize;
typedef signed long gssize;
typedef uint32_t guint32;
typedef uint64_t guint64;
typedef void *gpointer;
typedef const void *gconstpointer;
typedef guint32 GQuark;
typedef gsize GType;

#define G_MAXINT INT32_MAX

// GLib

typedef struct _GError GError;
struct _GError {
  GQuark domain;
  gint code;
  gchar *message;
};

typedef struct _GList GList;
struct _GList {
  gpointer data;
  GList *next;
  GList *prev;
};

typedef struct _GSList GSList;
typedef struct _GData GData;
typedef struct _GHashTable GHashTable;
typedef struct _GMainContext GMainContext;
typedef struct _GSource GSource;
typedef struct _GVariant GVariant;
typedef struct _GVariantType GVariantType;

typedef void (*GDestroyNotify)(gpointer data);
typedef gboolean (*GEqualFunc)(gconstpointer a, gconstpointer b);
typedef guint (*GHashFunc)(gconstpointer key);
typedef gboolean (*GSourceFunc)(gpointer data);

// GObject

typedef struct _GTypeClass GTypeClass;
struct _GTypeClass {
  GType g_type;
};

typedef struct _GTypeInstance GTypeInstance;
struct _GTypeInstance {
  GTypeClass *g_class;
};

typedef struct _GParamSpec GParamSpec;
typedef struct _GValue GValue;

typedef struct _GObject GObject;
struct _GObject {
  GTypeInstance g_type_instance;
  guint ref_count;
  GData *qdata;
};

typedef struct _GObjectConstructParam GObjectConstructParam;
typedef struct _GObjectClass GObjectClass;
struct _GObjectClass {
  GTypeClass g_type_class;
  GSList *construct_properties;
  GObject *(*constructor)(GType type, guint count, GObjectConstructParam *properties);
  void (*set_property)(GObject *object, guint id, const GValue *value, GParamSpec *spec);
  void (*get_property)(GObject *object, guint id, GValue *value, GParamSpec *spec);
  void (*dispose)(GObject *object);
  void (*finalize)(GObject *object);
  void (*dispatch_properties_changed)(GObject *object, guint count, GParamSpec **specs);
  void (*notify)(GObject *object, GParamSpec *spec);
  void (*constructed)(GObject *object);
  gsize flags;
  gsize n_construct_properties;
  gpointer pspecs;
  gsize n_pspecs;
  gpointer pdummy[3];
};

typedef enum { G_TYPE_FLAG_NONE = 0 } GTypeFlags;
typedef void (*GClassInitFunc)(gpointer type, gpointer data);
typedef void (*GInstanceInitFunc)(GTypeInstance *instance, gpointer type);
