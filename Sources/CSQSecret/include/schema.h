#pragma once
#include "secret-types.h"

/// Returns the schema of the SDK's items: its name, and the attributes to find items by.
///
/// A search does not use the schema's name, because gnome-keyring does not know it for locked
/// items.
const SecretSchema *sq_account_schema(void);
