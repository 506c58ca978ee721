/// An object that an ``EventLoop`` calls when its sockets are ready or its time has come.
///
/// The loop calls a handler on the loop's thread. It keeps the handler alive while it watches one
/// of the handler's sockets or waits for the handler's time. A handler must not block.
package protocol EventHandler: AnyObject, Sendable {
  /// Handles sockets that have events; one call may be for several sockets.
  ///
  /// An event may be over when the loop reports it, so read and write the socket without blocking.
  func socketsAreReady(_ sockets: ArraySlice<ReadySocket>)

  /// Does what is due at the time that was passed to ``EventLoop/call(_:at:)``.
  func timeIsDue()

  /// Does the work that other threads prepared before they called ``EventLoop/callSoon(_:)``.
  func isCalled()

  /// Ends everything that waits for the loop, because the loop has ended for ever.
  ///
  /// The app has closed the loop's descriptors; see ``EventLoop/closedAdvice``. A thread other than
  /// the loop's may call this method, but never while another method of the handler runs. The call
  /// may be repeated after each later use of the loop.
  func loopHasFailed()
}

extension EventHandler {
  package func socketsAreReady(_ sockets: ArraySlice<ReadySocket>) {}
  package func timeIsDue() {}
  package func isCalled() {}
  package func loopHasFailed() {}
}
