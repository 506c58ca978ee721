import SQBasics
import SQCrypto
public import SQFoundation

/// A memory of values that may be used only once, such as a logout token or a web sign-in.
///
/// ``MemoryOneTimeValues`` remembers them for a single process. An application with several
/// processes needs a memory that they share: the stores `SQLiteTokenStore` and
/// `PostgreSQLTokenStore`.
public protocol OneTimeValues: Sendable {
  /// Marks a value as used; returns `false` if it was already used.
  ///
  /// The SDK's values are digests: 43 characters of base64url that reveal nothing. If several calls
  /// use the same value at the same time, even in different processes, only one of them may return
  /// `true`. A value may be forgotten after `end`. `now` is the time of the SDK's clock. The method
  /// may be called on any thread. An error that it throws ends the operation, and the value is not
  /// marked as used.
  func isFirstUse(of value: String, until end: Date, at now: Date) async throws -> Bool

  /// Marks a value as used for a purpose, such as "logout token".
  ///
  /// The SDK calls this method. The default implementation calls ``isFirstUse(of:until:at:)``. This
  /// is sufficient, because values for different purposes are different. A memory with a limited
  /// size should have a separate limit for each purpose.
  func isFirstUse(
    of value: String, for purpose: String, until end: Date, at now: Date
  ) async throws -> Bool

  /// Returns whether a value was used; the call does not mark it.
  ///
  /// For a logout token, the SDK calls this method first, then ends the token's sessions, and marks
  /// the value at the end. So the provider can send the token again if an error occurs. The default
  /// implementation returns `nil`, for a memory that cannot tell. Then the SDK marks the value
  /// first, and refuses the token if the provider sends it again.
  func wasUsed(_ value: String) async throws -> Bool?
}

extension OneTimeValues {
  /// Returns `nil`, because only ``isFirstUse(of:until:at:)`` can tell whether a value was used.
  public func wasUsed(_ value: String) async throws -> Bool? { nil }
}

extension OneTimeValues {
  /// Marks a value as used, without regard to its purpose.
  public func isFirstUse(
    of value: String, for purpose: String, until end: Date, at now: Date
  ) async throws -> Bool {
    try await isFirstUse(of: value, until: end, at: now)
  }

  /// Marks the digest of a text as used for a purpose; throws only errors of the SDK.
  package func use(
    _ text: String, as purpose: String, until end: Date, at now: Date
  ) async throws(SQOAuthError) -> Bool {
    try await reported("noted") {
      try await isFirstUse(of: Self.digest(text, purpose), for: purpose, until: end, at: now)
    }
  }

  /// Returns whether the digest of a text was used for a purpose; throws only errors of the SDK.
  package func wasUsed(_ text: String, as purpose: String) async throws(SQOAuthError) -> Bool? {
    try await reported("looked up") { try await wasUsed(Self.digest(text, purpose)) }
  }

  private static func digest(_ text: String, _ purpose: String) -> String {
    Base64URL.encode(Digest.sha256(Data("\(purpose)\n\(text)".utf8)))
  }

  private func reported<Value>(
    _ what: String, _ call: () async throws -> Value
  ) async throws(SQOAuthError) -> Value {
    do {
      return try await call()
    } catch let error as SQOAuthError {
      throw error
    } catch {
      throw SQOAuthError(.storeFailed, "a one-time value could not be \(what)", cause: error)
    }
  }
}
