import SQBasics
import SQFoundation

/// A client with everything that a grant needs: its configuration, its environment and its server's
/// metadata.
///
/// It is a class, because its values are large and every step of a grant passes them on.
package final class RegisteredClient: Sendable {
  package let configuration: ClientConfiguration
  package let environment: ClientEnvironment
  package let metadata: ProviderMetadata

  /// The key to which the client's new tokens are bound; `nil` for Bearer tokens.
  let proofKey: ProofKey?

  init(
    configuration: ClientConfiguration, environment: ClientEnvironment, metadata: ProviderMetadata,
    proofKey: ProofKey? = nil
  ) {
    self.proofKey = proofKey
    self.configuration = configuration
    self.environment = environment
    self.metadata = metadata
  }
}
