import SQBasics
import SQFoundation

/// The started sign-ins of devices without a browser, by device code.
///
/// - SeeAlso: RFC 8628
struct DeviceAuthorizations: Redacted {
  /// The user's decision, made with a browser on another device; `none` until then.
  enum Decision: Redacted {
    case none
    case allowed(UserSignIn)
    case denied
  }

  struct Authorization: Redacted {
    let client: SandboxClient
    let scopes: [String]
    let details: [SandboxJSON]
    /// The values of the device's `resource` parameters (RFC 8707).
    let resources: [String]
    let openID: OpenIDRequest
    let userCode: String
    let expiry: Date
    var decision = Decision.none
    /// Whether the device code was exchanged for a token.
    var isUsed = false
    /// The minimum time between two token requests, in seconds; each early request adds 5 seconds.
    var interval: TimeInterval
    var lastRequest: Date?
  }

  /// The letters of user codes: no vowels, so that no code is a word (RFC 8628, section 6.1).
  private static let letters = Array("BCDFGHJKLMNPQRSTVWXZ")

  private(set) var byDeviceCode: [String: Authorization] = [:]

  /// Adds an authorization and returns its device code.
  ///
  /// Removes each authorization whose expiry is more than a day before the new one's expiry.
  mutating func add(_ authorization: Authorization) -> String {
    let code = Crypto.secret("device-")
    let start = authorization.expiry.addingTimeInterval(-86_400)
    byDeviceCode = byDeviceCode.filter { $0.value.expiry > start }
    byDeviceCode[code] = authorization
    return code
  }

  /// Returns a new user code that no other device has, such as `WDJB-MJHT`.
  func newUserCode() -> String {
    while true {
      let letters = (0..<8).map { _ in Self.letters.randomElement() ?? "B" }
      let code = String(letters.prefix(4)) + "-" + String(letters.suffix(4))
      if !byDeviceCode.values.contains(where: { $0.userCode == code }) { return code }
    }
  }

  /// Returns the device code for a user code that waits for a decision, or `nil` if there is none.
  ///
  /// Case, hyphens and spaces in the user code do not matter.
  func deviceCode(of userCode: String, at now: Date) -> String? {
    let typed = Self.comparable(userCode)
    return byDeviceCode.first { _, authorization in
      guard case .none = authorization.decision, authorization.expiry > now else { return false }
      return Self.comparable(authorization.userCode) == typed
    }?.key
  }

  /// Changes a device code's authorization, and returns the result of `body`.
  ///
  /// Returns `nil` if the device code is unknown.
  mutating func change<Result>(
    _ deviceCode: String, _ body: (inout Authorization) -> Result
  ) -> Result? {
    guard var authorization = byDeviceCode[deviceCode] else { return nil }
    defer { byDeviceCode[deviceCode] = authorization }
    return body(&authorization)
  }

  private static func comparable(_ code: String) -> String {
    String(code.uppercased().filter { $0.isASCII && $0.isLetter })
  }
}
