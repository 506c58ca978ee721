#pragma once
#include "library.h"

/// Registers the SDK's subclass of SecretService, which calls these functions.
///
/// GLib never removes a class, so the pointer must stay valid. A second call has no effect. Only
/// one thread at a time may call this.
void sq_secret_service_register(const SQSecretFunctions *functions);

/// Opens a session on the caller's connection.
///
/// Unlike with `secret_service_open_sync`, a call also ends if the keyring's program ends during a
/// prompt.
///
/// The class must have been registered.
SecretService *sq_secret_service_open(GDBusConnection *connection, GCancellable *cancellable,
                                      GError **error);
