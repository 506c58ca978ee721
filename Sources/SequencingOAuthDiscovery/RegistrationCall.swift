import SQBasics
import SequencingOAuth

/// The registration of a program at a server; equal for callers that need the same one.
///
/// Each client of a resource registers by itself, and a server may not let clients delete what
/// turns out to be one too many.
struct RegistrationCall: Hashable, Sendable {
  /// The registrations under way in this process.
  static let underWay = SharedFetches<Self, ClientRegistration, SQOAuthError>(keepsValues: false)

  private let issuer: ExactText
  private let metadata: ClientMetadata
  /// The identity of the store, which lives at least as long as the call.
  private let store: ObjectIdentifier

  /// Creates the key of a call; `nil` if the store is no object, because copies have no identity.
  init?(_ issuer: String, _ metadata: ClientMetadata, _ store: any RegistrationStore) {
    guard type(of: store) is AnyClass else { return nil }
    self.issuer = ExactText(issuer)
    self.metadata = metadata
    self.store = ObjectIdentifier(store as AnyObject)
  }
}
