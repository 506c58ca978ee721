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
    "invalidToken", "insufficientScope", "insufficientUserAuthentication", "invalidRedirectURI",
    "invalidClientMetadata", "invalidRequestURI",
  ]

  @Test func `each error code belongs either to servers or to the SDK`() throws {
    let codes = try PublicErrorCodes.all()
    #expect(codes.count > 80)
    for (name, code) in codes {
      let isOwn = SQOAuthError.Code.ownOfSDK.contains(code)
      #expect(isOwn != Self.ofServers.contains(name), "\(name)")
    }
  }

  @Test func `a token endpoint's error with one of the SDK's own codes becomes requestRefused`()
    throws
  {
    for (name, code) in try PublicErrorCodes.all() where !Self.ofServers.contains(name) {
      let error = failure(.requestRefused) {
        try Answer.read(#"{"error":"\#(code)"}"#, status: 400)
      }
      #expect(error?.response?.error == code)
      #expect(error?.isCancellation == false && error?.requiresSignIn == false)
      #expect(error?.answeringRefresh().endsSession == false && error?.isOutage == false)
    }
  }
}
