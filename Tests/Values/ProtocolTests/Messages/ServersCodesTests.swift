import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// Which error codes a server may send.
@Suite struct ServersCodesTests {
  /// The codes that RFCs and OpenID Connect define for servers, by their names in the SDK.
  private static let ofServers: Set = [
    "invalidRequest", "invalidClient", "invalidGrant", "unauthorizedClient",
    "unsupportedGrantType", "unsupportedResponseType", "invalidScope", "accessDenied",
    "serverError", "temporarilyUnavailable", "interactionRequired", "loginRequired",
    "consentRequired", "invalidTarget", "invalidAuthorizationDetails", "useDPoPNonce",
    "invalidDPoPProof", "unsupportedTokenType", "expiredToken",
    "invalidToken", "insufficientScope", "invalidRedirectURI", "invalidClientMetadata",
    "invalidRequestURI",
  ]

  /// Reads the names and texts of all public codes from the source.
  private func codes() throws -> [(name: String, code: SQOAuthError.Code)] {
    let root = URL(filePath: #filePath).pathComponents.dropLast(5).joined(separator: "/")
    return try ["Codes", "IdentityCodes"].flatMap { part in
      let path = "\(root)/Sources/SequencingOAuth/SQOAuthError+\(part).swift"
      let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
      return text.matches(of: /public static let (\w+) = Self\(\s*rawValue: "(\w+)"\)/).map {
        (String($0.1), SQOAuthError.Code(rawValue: String($0.2)))
      }
    }
  }

  @Test func `every code that is not a server's is one of the SDK's own`() throws {
    let codes = try codes()
    #expect(codes.count > 80)
    for (name, code) in codes {
      let isOwn = SQOAuthError.Code.ownOfSDK.contains(code)
      #expect(isOwn != Self.ofServers.contains(name), "\(name)")
    }
  }

  @Test func `an endpoint cannot use the SDK's own codes`() throws {
    for (name, code) in try codes() where !Self.ofServers.contains(name) {
      let error = failure(.requestRefused) {
        try Answer.read(#"{"error":"\#(code)"}"#, status: 400)
      }
      #expect(error?.response?.error == code)
      #expect(error?.isCancellation == false && error?.requiresSignIn == false)
      #expect(error?.answeringRefresh().endsSession == false && error?.isOutage == false)
    }
  }
}
