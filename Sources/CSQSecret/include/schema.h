#pragma once
#include "secret-types.h"

/// What the SDK's items are called, and the attributes they are found by.
///
/// The name is not searched for: gnome-keyring does not know it of an item that is locked.
const SecretSchema *sq_account_schema(void);
