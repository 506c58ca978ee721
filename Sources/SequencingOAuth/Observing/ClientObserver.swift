import SQBasics

/// An observer of what the SDK does, for ``ClientEnvironment/observer``.
///
/// The closure gets the events in order, one at a time, on the observer's own queue. The SDK never
/// waits for it. If the closure is too slow, a limited number of events wait for it, and further
/// events are lost; ``ClientEvent/Subject/lost(_:)`` says how many.
public final class ClientObserver: Sendable {
  /// A closure that returns additional header fields for a request, such as `traceparent`.
  public typealias RequestFields = @Sendable (_ begin: ClientEvent) -> HeaderFields

  private struct State {
    var waiting = 0
    var lost = 0
    var operations: UInt64 = 0
  }

  /// Whether events may name users.
  package let namesAccounts: Bool
  private let limit: Int
  private let requestFields: RequestFields?
  private let receive: @Sendable (ClientEvent) -> Void
  private let state = Locked(State())
  private let queue = BlockingQueue("ClientObserver")

  /// Creates an observer.
  ///
  /// With `namesAccounts`, events have the ids of accounts. The search for a user of AT Protocol
  /// then has events too. A server in these events may be the user's handle, which is a host name.
  /// At most `limit` events wait for the closure. `requestFields` gets the begin event of each
  /// request before the request is sent. It is called in the request's task, before or after
  /// `receive` gets the event, so it must be quick. A field that the request already has is not
  /// replaced, and a field that could change the meaning of the request is not added.
  public init(
    namesAccounts: Bool = false, limit: Int = 1000, requestFields: RequestFields? = nil,
    _ receive: @escaping @Sendable (ClientEvent) -> Void
  ) {
    self.namesAccounts = namesAccounts
    self.limit = max(1, limit)
    self.requestFields = requestFields
    self.receive = receive
  }

  /// Waits until the closure has got all events so far; call it before the program ends.
  ///
  /// It waits at most for the duration `limit`.
  public func flush(within limit: Duration = .seconds(5)) async {
    let end = OneShot<Void>()
    queue.start { end.resolve(()) }
    _ = await end.wait(until: .now + limit.bounded)
  }

  /// Passes an event to the closure; counts the event as lost if too many are waiting.
  func tell(_ event: ClientEvent) {
    let isLost = state.withLock { state in
      guard state.waiting < limit else {
        state.lost += 1
        return true
      }
      state.waiting += 1
      return false
    }
    guard !isLost else { return }
    queue.start { [self] in
      receive(event)
      let lost = state.withLock { state in
        state.waiting -= 1
        defer { if state.waiting == 0 { state.lost = 0 } }
        return state.waiting == 0 ? state.lost : 0
      }
      if lost > 0 { receive(ClientEvent(.lost(lost))) }
    }
  }

  /// Creates the event of an operation's beginning or end or, by default, of a moment.
  ///
  /// A moment is not an operation of its own; the operation of `scope` is its parent.
  func event(
    _ subject: ClientEvent.Subject, _ phase: ClientEvent.Phase = .moment, of scope: Observation?,
    accountID: String? = nil
  ) -> ClientEvent {
    let isMoment = phase == .moment
    let id = accountID ?? scope?.accountID
    return ClientEvent(
      subject, phase, operation: isMoment ? nil : scope?.operation,
      parent: isMoment ? scope?.operation : scope?.parent, accountID: namesAccounts ? id : nil)
  }

  /// Starts a new operation, inside `parent` if there is one.
  func begin(within parent: Observation?, accountID: String? = nil) -> Observation {
    let number = state.withLock { state in
      state.operations += 1
      return state.operations
    }
    return Observation(
      operation: number, parent: parent?.operation, accountID: accountID ?? parent?.accountID)
  }

  /// Returns a request's fields with the observer's additional fields.
  func adding(to fields: HeaderFields, _ begin: ClientEvent) -> HeaderFields {
    guard let requestFields else { return fields }
    var fields = fields
    for field in requestFields(begin)
    where fields[field.name] == nil && !Self.isReserved(field.name) {
      fields[field.name] = field.value
    }
    return fields
  }

  /// Returns whether only the SDK or the transport may set a field.
  private static func isReserved(_ name: String) -> Bool {
    [
      "authorization", "dpop", "proxy-authorization", "cookie", "host", "content-length",
      "content-type", "transfer-encoding", "connection", "expect", "te", "upgrade",
    ].contains(name.asciiLowercased())
  }
}
