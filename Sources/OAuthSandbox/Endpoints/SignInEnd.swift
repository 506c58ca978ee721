import SQBasics

/// The end of a sign-in at the sandbox: the app gets a redirect, or a device gets its token.
enum SignInEnd: Redacted {
  case redirect(RedirectBack)
  /// A device gets its token; the value is the device code.
  case device(String)

  /// Ends the sign-in with an error to the app, or denies the device its token.
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

  /// The CSP `form-action` sources of the sign-in's forms, including the targets of redirects;
  /// `nil` if CSP cannot express a target.
  var formTargets: [String]? {
    switch self {
    case .redirect(let back): back.formTargets
    case .device: ["'self'"]
    }
  }
}
