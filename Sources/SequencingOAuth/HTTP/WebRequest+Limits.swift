/// A request's time limits: for each, the value that was set, or else the default.
package struct WebRequestLimits: Sendable {
  /// The default for the limits that were not set.
  package var standard = Duration.seconds(60)
  /// The limit for the whole request: `nil` if it was not set, `.some(nil)` for no limit.
  var total: Duration??
  /// The limit for the time without a byte: `nil` if it was not set, `.some(nil)` for no limit.
  var idle: Duration??
  /// The limit from the call until the request is sent; `nil` if there is no separate limit.
  var connection: Duration?

  package init() {}
}

extension WebRequest {
  /// The maximum time from the call to the last byte of the response; `nil` for no limit.
  ///
  /// The default is 60 s. With ``AccountOperations/send(_:)``, the default is
  /// ``ClientConfiguration/timeout`` instead.
  public var timeout: Duration? {
    get { limits.total ?? limits.standard }
    set { limits.total = .some(newValue) }
  }

  /// The maximum time without a single byte in either direction; `nil` for no limit.
  ///
  /// A request with a ``timeout`` has no idle limit by default. If ``timeout`` was set to `nil`,
  /// the default is 60 s; ``AccountOperations/send(_:)`` uses ``ClientConfiguration/timeout``
  /// instead.
  public var idleTimeout: Duration? {
    get { limits.idle ?? (timeout == nil ? limits.standard : nil) }
    set { limits.idle = .some(newValue) }
  }

  /// Returns the request with a different default for the limits that were not set.
  func withStandardLimit(_ limit: Duration) -> Self {
    var request = self
    request.limits.standard = limit
    return request
  }
}
