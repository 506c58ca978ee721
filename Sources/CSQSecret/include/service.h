#pragma once
#include "library.h"

/// Registers the SDK's class of keyring services, which works with these functions.
///
/// GLib never forgets a class, so the functions must stay where they are. A later call has no
/// effect. Only one thread at a time may call this.
void sq_secret_service_register(const SQSecretFunctions *functions);

/// `secret_service_open_sync` on a connection of the caller's, with prompts that end.
///
/// The class must have been registered.
SecretService *sq_secret_service_open(GDBusConnection *connection, GCancellable *cancellable,
                                      GError **error);
