import Basics
import SequencingOAuthGRPC

/// An access token that a person has from elsewhere: from the environment, never from an argument,
/// never printed.
struct GivenToken: Sendable, Redacted {
  static let variable = "SQ_ACCESS_TOKEN"

  let value: String

  var description: String { "an access token" }

  init(_ value: String) {
    self.value = value
  }

  /// Makes sure that it can be sent.
  func check() throws(Failure) {
    var metadata = RPCMetadata()
    do throws(RPCError) {
      try metadata.setOAuth2AccessToken(value)
    } catch {
      throw .usage("\(Self.variable): \(error.message)")
    }
  }
}
