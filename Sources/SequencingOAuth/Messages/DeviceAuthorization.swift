public import SQBasics
public import SQFoundation

/// The address and the code with which a user signs in on another device.
///
/// Show the address, the code and the remaining time until the code expires. If there is an address
/// that includes the code, also show it as a QR code or a link.
///
/// - SeeAlso: RFC 8628, section 3.3
public struct DeviceAuthorization: Sendable, Hashable {
  /// The `grant_type` of sign-ins on another device, for ``ClientMetadata/grantTypes``.
  public static let grantType = "urn:ietf:params:oauth:grant-type:device_code"

  /// The longest time that the SDK waits for a user to enter a code, in seconds: one day.
  static let longestLifetime = 86_400.0

  /// The code for the user to enter, such as `WDJB-MJHT`; it contains no control characters.
  public let userCode: String
  /// The address at which the user enters the code, short enough to type.
  public let verificationURI: URL
  /// The address of a page that already knows the code; `nil` if the server sent none.
  ///
  /// Show the ``userCode`` next to it: the page may ask the user to compare the codes, so that an
  /// attacker cannot trick the user into signing in for someone else.
  public let verificationURIComplete: URL?
  /// The moment the code expires: from the server's `expires_in`, but at most one day away.
  ///
  /// After that, the sign-in ends with ``SQOAuthError/Code/expiredToken``.
  public let expirationDate: Date

  /// Creates a value for an app's own tests and previews.
  public init(
    userCode: String, verificationURI: URL, verificationURIComplete: URL? = nil,
    expirationDate: Date
  ) {
    self.userCode = userCode
    self.verificationURI = verificationURI
    self.verificationURIComplete = verificationURIComplete
    self.expirationDate = expirationDate
  }
}

extension DeviceAuthorization: Redacted {
  /// The address without the code, because anyone with the code could sign in with it.
  public var description: String { "device authorization at \(verificationURI)" }
}
