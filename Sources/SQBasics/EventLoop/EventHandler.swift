/// An object that an ``EventLoop`` calls when its sockets are ready or its time has come.
///
/// The loop calls it on the loop's thread, and keeps it alive while it watches one of its sockets
/// or waits for its time. A handler must not block.
package protocol EventHandler: AnyObject, Sendable {
  /// Handles sockets that have events; one call may pass on several of them.
  ///
  /// An event may be over when the loop reports it, so read and write the socket without blocking.
  func socketsAreReady(_ sockets: ArraySlice<ReadySocket>)

  /// Does what is due at the time that was passed to ``EventLoop/call(_:at:)``.
  func timeIsDue()

  /// Does what other threads have left for the loop before ``EventLoop/callSoon(_:)``.
  func isCalled()

  /// Ends what waits for the loop, because the loop has ended for ever.
  ///
  /// The app has closed the loop's descriptors; see ``EventLoop/closedAdvice``. Another thread than
  /// the loop's may call it, but never while another method of the handler is called. It may be
  /// called again after each later use of the loop.
  func loopHasFailed()
}

extension EventHandler {
  package func socketsAreReady(_ sockets: ArraySlice<ReadySocket>) {}
  package func timeIsDue() {}
  package func isCalled() {}
  package func loopHasFailed() {}
}
