/// How long a request may take, and which of its limits were set.
struct HTTPRequestLimits: Sendable {
  /// The limit of a request that sets none.
  var common = Duration.seconds(60)
  /// What was set for the whole request; `.some(nil)` is no limit.
  var total: Duration??
  /// What was set for the time without a byte; `.some(nil)` is no limit.
  var idle: Duration??
  /// From the call to the moment in which the request is sent, where that has a limit of its own.
  var connection: Duration?
}

extension HTTPRequest {
  /// From the call to the last byte of the answer; `nil` for no limit.
  ///
  /// Unless it is set, a request has 60 s. ``AuthorizationModule/send(_:)`` and ``SQOAuth/send(_:)``
  /// give it ``ClientConfiguration/timeout`` instead.
  public var timeout: Duration? {
    get { limits.total ?? limits.common }
    set { limits.total = .some(newValue) }
  }

  /// The longest time in which not a single byte moves, either way; `nil` for no limit.
  ///
  /// Unless it is set, a request that has a ``timeout`` may be silent for all of that time. One
  /// whose ``timeout`` was set to `nil` may be silent for as long as an ordinary request may take,
  /// which is 60 s, or in ``AuthorizationModule/send(_:)`` ``ClientConfiguration/timeout``.
  public var idleTimeout: Duration? {
    get { limits.idle ?? (timeout == nil ? limits.common : nil) }
    set { limits.idle = .some(newValue) }
  }

  /// The request with another limit in the place of those that it does not set itself.
  func limited(to common: Duration) -> Self {
    var request = self
    request.limits.common = common
    return request
  }
}
