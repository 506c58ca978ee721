public import SQFoundation

/// Something that happens in the SDK, for logs, metrics and traces.
///
/// No event contains a secret, or the path or query of a URL. An event contains data about a user,
/// such as an account's id, only if the observer asks for ids. A later version may add subjects and
/// cases, so write a `default` in a `switch`.
///
/// - SeeAlso: ``ClientObserver``
public struct ClientEvent: Sendable, Hashable {
  /// Whether an event is the beginning of an operation, its end, or a moment.
  public enum Phase: Sendable, Hashable {
    /// An operation begins.
    case begin
    /// An operation has ended, with an error's code if the operation failed.
    ///
    /// The duration is measured by a monotonic clock, so changes of the date do not affect it.
    case end(after: Duration, error: SQOAuthError.Code?)
    /// The event takes no time.
    case moment
  }

  /// What an event is about.
  public enum Subject: Sendable, Hashable {
    /// A user signs in, or a grant without a browser gets an account's first token.
    case signIn(SignInWay)
    /// A request to a server.
    case request(Request)
    /// A session gets a new token.
    case refresh(Refresh)
    /// A session waits for its account, which another session or process has locked.
    ///
    /// `holder` is the store's description of the process that has locked the account; `nil` if the
    /// store does not know the process.
    case leaseWait(holder: String?)
    /// A call of the token store for an account.
    case store(StoreCall)
    /// The SDK gives a page of the authorization server to the browser.
    case pageOpened
    /// The user has got a code for another device.
    case codeShown
    /// The redirect of a sign-in was accepted.
    case redirectAccepted
    /// A redirect was refused, without an effect on the sign-in.
    case redirectRefused(RedirectRefusal)
    /// A session took over the token that another process had refreshed.
    case takenOver
    /// A session took over the token of a sign-in in another process.
    case replaced
    /// After a failure, no request for a token is sent for this time.
    case backOff(Duration, after: SQOAuthError.Code)
    /// The sign-in ends soon, and only the user can continue it.
    case endsSoon(Date)
    /// A session has ended.
    case ended(End)
    /// The observer was too slow, so this number of earlier events is lost.
    case lost(Int)
  }

  /// What the event is about.
  public let subject: Subject
  /// Whether the event is the beginning of an operation, its end, or a moment.
  public let phase: Phase
  /// The number of the operation, the same at its beginning and its end; `nil` for a moment.
  public let operation: UInt64?
  /// The number of the operation that this event is part of; `nil` if there is none.
  ///
  /// If a caller joins a sign-in or a refresh under way, the caller's operation does not become a
  /// parent of that sign-in or refresh.
  public let parent: UInt64?
  /// The id of the account, if the observer asks for ids and the event is about an account.
  public let accountID: String?
  /// The time of the event by the system's clock.
  public let date: Date

  init(
    _ subject: Subject, _ phase: Phase = .moment, operation: UInt64? = nil, parent: UInt64? = nil,
    accountID: String? = nil
  ) {
    self.subject = subject
    self.phase = phase
    self.operation = operation
    self.parent = parent
    self.accountID = accountID
    date = Date()
  }
}
