/// An object of an app that calls a closure when it is released.
package final class Caller: Sendable {
  private let call: @Sendable () -> Void

  package init(_ call: @escaping @Sendable () -> Void) {
    self.call = call
  }

  deinit {
    call()
  }
}
