import SQFoundation

/// The grant that gives a device its token after the user signed in elsewhere.
///
/// - SeeAlso: RFC 8628, sections 3.4 and 3.5
enum DeviceGrant {
  static let type = "urn:ietf:params:oauth:grant-type:device_code"

  static func redeem(
    _ request: SandboxRequest, _ client: SandboxClient, _ sandbox: inout SandboxState
  ) throws(OAuthFault) -> SandboxJSON {
    guard let code = request.form("device_code") else {
      throw .invalidRequest("device_code is missing.")
    }
    guard let device = sandbox.devices.byDeviceCode[code], device.client.id == client.id,
      !device.isUsed
    else { throw .invalidGrant("The device code is unknown, was used, or is for another client.") }
    guard device.expiry > sandbox.now else {
      throw OAuthFault(code: "expired_token", description: "The device code has expired.")
    }
    switch device.decision {
    case .none: throw pending(code, &sandbox)
    case .denied:
      throw OAuthFault(code: "access_denied", description: "The user did not allow the access.")
    case .allowed(let signIn):
      let opened = grant(device, signIn)
      let audiences = try sandbox.audiences(of: request, within: opened)
      sandbox.devices.change(code) { $0.isUsed = true }
      return try issue(opened, for: audiences, key: request.tokenKey, &sandbox)
    }
  }

  private static func pending(_ code: String, _ sandbox: inout SandboxState) -> OAuthFault {
    let now = sandbox.now
    let isTooSoon = sandbox.devices.change(code) { device in
      defer { device.lastRequest = now }
      guard let last = device.lastRequest, now.timeIntervalSince(last) < device.interval - 0.5
      else { return false }
      device.interval += 5
      return true
    }
    guard isTooSoon == true else {
      return OAuthFault(code: "authorization_pending", description: "The user is not done yet.")
    }
    return OAuthFault(code: "slow_down", description: "The device asks too often.")
  }

  private static func grant(
    _ device: DeviceAuthorizations.Authorization, _ signIn: UserSignIn
  ) -> TokenLedger.Grant {
    let hasIdentity = device.scopes.contains("openid")
    return TokenLedger.Grant(
      clientID: device.client.id, user: signIn.user, scopes: device.scopes,
      identity: hasIdentity ? Identity(signIn, device.openID) : nil, signIn: signIn,
      audiences: device.resources, details: device.details)
  }

  private static func issue(
    _ opened: TokenLedger.Grant, for audiences: [String], key: String?,
    _ sandbox: inout SandboxState
  ) throws(OAuthFault) -> SandboxJSON {
    let grant = sandbox.ledger.open(opened)
    let response = sandbox.tokenResponse(
      grant: grant, scopes: opened.scopes, details: opened.details, audiences: audiences,
      hasRefreshToken: true, key: key)
    return try sandbox.addingIDToken(to: response, grant: grant)
  }
}
