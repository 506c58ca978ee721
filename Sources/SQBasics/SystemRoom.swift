import SQLibC

/// What the system still gives this process.
package enum SystemRoom {
  /// Returns why the process cannot open a number of files now, or start a thread, or 0.
  ///
  /// The result is an `errno`; it is `EAGAIN` if a thread cannot be started. The function opens the
  /// files, and starts the thread, for a moment.
  package static func shortage(files: Int) -> Int32 {
    var opened: [Int32] = []
    defer { opened.forEach { close($0) } }
    while opened.count < files {
      let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
      guard file >= 0 else {
        if [EMFILE, ENFILE, ENOMEM].contains(errno) { return errno }
        // Without the device, this cannot be found out.
        break
      }
      opened.append(file)
    }
    return Threads.canStart() ? 0 : EAGAIN
  }
}
