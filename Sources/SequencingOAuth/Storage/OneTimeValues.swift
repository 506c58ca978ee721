import SQBasics
import SQCrypto

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Remembers values that count only once, such as a logout token or the sign-in of a web
/// application.
///
/// ``MemoryOneTimeValues`` remembers them for one process. An application with several processes
/// needs one that they share: the stores `SQLiteTokenStore` and `PostgreSQLTokenStore`.
public protocol OneTimeValues: Sendable {
  /// Notes a value; returns `false` if it was noted before.
  ///
  /// The SDK's values are digests: texts of 43 characters of base64url, which tell nothing.
  /// However many calls come for one value at once, in whatever processes, only one of them returns
  /// `true`. After `end` the value may be forgotten. `now` is the time of the SDK's clock. Any
  /// thread may call this. An error that it throws ends the operation, and nothing counts then.
  func isFirstUse(of value: String, until end: Date, at now: Date) async throws -> Bool

  /// Notes a value for a purpose, such as "logout token".
  ///
  /// The SDK calls this. By default it calls ``isFirstUse(of:until:at:)``, which is enough, since
  /// values of different purposes differ. Memory that is limited is shared out by the purpose.
  func isFirstUse(
    of value: String, for purpose: String, until end: Date, at now: Date
  ) async throws -> Bool

  /// Whether a value was noted; the call notes nothing.
  ///
  /// The SDK asks before the work that a value stands for, and notes the value after it, if the work
  /// may be repeated: a logout token counts when its sessions have ended. The default returns `nil`,
  /// for an object that cannot say; then the SDK notes the value before the work, and work that
  /// fails is not repeated.
  func wasUsed(_ value: String) async throws -> Bool?
}

extension OneTimeValues {
  /// Returns `nil`, since only ``isFirstUse(of:until:at:)`` tells whether a value was noted.
  public func wasUsed(_ value: String) async throws -> Bool? { nil }
}

extension OneTimeValues {
  /// Notes a value, whatever its purpose.
  public func isFirstUse(
    of value: String, for purpose: String, until end: Date, at now: Date
  ) async throws -> Bool {
    try await isFirstUse(of: value, until: end, at: now)
  }

  /// Notes the digest of a text that counts once for its purpose; throws errors of the SDK only.
  package func use(
    _ text: String, as purpose: String, until end: Date, at now: Date
  ) async throws(SQOAuthError) -> Bool {
    try await reported("noted") {
      try await isFirstUse(of: Self.digest(text, purpose), for: purpose, until: end, at: now)
    }
  }

  /// Whether the digest of a text was noted for a purpose; throws errors of the SDK only.
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
