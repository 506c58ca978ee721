import SQBasics

/// How a sign-in at the sandbox ends: the app gets a redirect, or a device gets its token.
enum SignInEnd: Redacted {
  case redirect(RedirectBack)
  /// The sign-in of a device, by its device code.
  case device(String)

  /// Ends the sign-in without a permission.
  func refuse(
    _ code: String, _ description: String, _ sandbox: inout SandboxState
  ) -> Answer {
    switch self {
    case .redirect(let back):
      return back.error(code, description, &sandbox)
    case .device(let deviceCode):
      _ = sandbox.devices.change(deviceCode) { $0.decision = .denied }
      return DeviceCodePage.end(isAllowed: false)
    }
  }

  /// The addresses to which the forms of the sign-in may lead, also by redirects; `nil` if they
  /// cannot be listed.
  var formTargets: [String]? {
    switch self {
    case .redirect(let back): RedirectURIs.formTarget(back.redirectURI).map { ["'self'", $0] }
    case .device: ["'self'"]
    }
  }
}
