/// The time limits of a request, and whether each was set or is the default.
package struct HTTPRequestLimits: Sendable {
  /// The default limit, for a request that sets none.
  package var standard = Duration.seconds(60)
  /// The limit that was set for the whole request; `.some(nil)` means no limit.
  var total: Duration??
  /// The limit that was set for the time without a byte; `.some(nil)` means no limit.
  var idle: Duration??
  /// The limit from the call until the request is sent; `nil` if there is no separate limit.
  var connection: Duration?

  package init() {}
}

extension HTTPRequest {
  /// The longest time from the call to the last byte of the answer; `nil` for no limit.
  ///
  /// The default is 60 s. With ``AuthorizationModule/send(_:)`` and ``SQOAuth/send(_:)``, the
  /// default is ``ClientConfiguration/timeout`` instead.
  public var timeout: Duration? {
    get { limits.total ?? limits.standard }
    set { limits.total = .some(newValue) }
  }

  /// The longest time without a single byte in either direction; `nil` for no limit.
  ///
  /// By default a request that has a ``timeout`` has no limit for silence. A request whose
  /// ``timeout`` was set to `nil` has one of 60 s, or of ``ClientConfiguration/timeout`` with
  /// ``AuthorizationModule/send(_:)`` and ``SQOAuth/send(_:)``.
  public var idleTimeout: Duration? {
    get { limits.idle ?? (timeout == nil ? limits.standard : nil) }
    set { limits.idle = .some(newValue) }
  }

  /// The request with another default limit, which holds for the limits that were not set.
  func withStandardLimit(_ limit: Duration) -> Self {
    var request = self
    request.limits.standard = limit
    return request
  }
}
