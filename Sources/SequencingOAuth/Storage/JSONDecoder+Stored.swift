package import SQFoundation

/// An error: OpenSSL's configuration has taken away what reading a stored key needs.
///
/// It is no damage of the store, whose key is as good as before.
struct KeyUnread: Error {
  let lack: String
}

extension JSONDecoder {
  /// Decodes a stored value that may contain an account's key; returns `nil` if it is damaged.
  ///
  /// - Throws: ``SQOAuthError/Code/storeFailed`` if this process cannot read the key now.
  package static func stored<Value: Decodable>(
    _ type: Value.Type, from bytes: Data
  ) throws(SQOAuthError) -> Value? {
    do {
      return try JSONDecoder().decode(type, from: bytes)
    } catch let error as KeyUnread {
      throw SQOAuthError(
        .storeFailed,
        "the key of an account in it cannot be read, and nothing was changed: "
          + error.lack)
    } catch {
      return nil
    }
  }
}
