import CSQSecret

/// A value in an answer on D-Bus.
final class KeyringValue {
  private let pointer: OpaquePointer
  private let library: KeyringLibrary

  init(adopting pointer: OpaquePointer, of library: KeyringLibrary) {
    self.pointer = pointer
    self.library = library
  }

  deinit {
    library.c.g_variant_unref(pointer)
  }

  /// Returns whether the value has a type, for example `s` for a text and `ao` for a list of paths.
  ///
  /// - SeeAlso: D-Bus specification, "Type System"
  func isOf(type: String) -> Bool {
    type.withCString { library.c.g_variant_is_of_type(pointer, OpaquePointer($0)) } != 0
  }

  /// The parts of a list or of a tuple, or the value in a variant; empty for any other type.
  var parts: [KeyringValue] {
    guard ["a*", "r", "v"].contains(where: isOf) else { return [] }
    return (0..<library.c.g_variant_n_children(pointer)).compactMap { index in
      library.c.g_variant_get_child_value(pointer, index).map {
        KeyringValue(adopting: $0, of: library)
      }
    }
  }

  /// The text, or the path of an object; `nil` for any other type.
  var text: String? {
    guard isOf(type: "s") || isOf(type: "o") else { return nil }
    return library.c.g_variant_get_string(pointer, nil).map { String(cString: $0) }
  }
}
