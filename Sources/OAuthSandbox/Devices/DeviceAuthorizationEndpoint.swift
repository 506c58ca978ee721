import SQFoundation

/// The endpoint where a device begins a sign-in: `/device_authorization`.
///
/// - SeeAlso: RFC 8628, sections 3.1 and 3.2
enum DeviceAuthorizationEndpoint {
  static func answer(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    ClientAuthenticator.answer(request, &sandbox) { client, sandbox throws(OAuthFault) in
      guard client.accepts(grantType: DeviceGrant.type) else {
        throw .unauthorizedClient("The client may not use this grant type.")
      }
      let details = try sandbox.details(of: request, for: client)
      let scopes = try sandbox.scopes(request.form("scope"), for: client, details: details)
      // This server also accepts the parameters of OpenID Connect here.
      let openID = try OpenIDRequest(request.form, sandbox)
      let resources = try sandbox.resources(in: request.form)
      return Answer(json: begin(client, scopes, details, resources, openID, &sandbox))
    }
  }

  private static func begin(
    _ client: SandboxClient, _ scopes: [String], _ details: [SandboxJSON],
    _ resources: [String], _ openID: OpenIDRequest, _ sandbox: inout SandboxState
  ) -> SandboxJSON {
    let lifetime = sandbox.options.deviceCodeLifetime
    let interval = sandbox.options.deviceInterval
    let userCode = sandbox.devices.newUserCode()
    let deviceCode = sandbox.devices.add(
      DeviceAuthorizations.Authorization(
        client: client, scopes: scopes, details: details, resources: resources, openID: openID,
        userCode: userCode, expiry: sandbox.now.addingTimeInterval(lifetime.timeInterval),
        interval: interval.timeInterval))
    let page = sandbox.address + SandboxEndpoint.device.path
    return [
      "device_code": .string(deviceCode), "user_code": .string(userCode),
      "verification_uri": .string(page),
      "verification_uri_complete": .string("\(page)?user_code=\(userCode)"),
      "expires_in": .integer(lifetime.wholeSeconds),
      "interval": .integer(interval.wholeSeconds),
    ]
  }
}
