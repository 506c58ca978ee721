import CSQSockets
import Foundation
import TestSupport

/// Starts a program as the leader of a new process group, with default signal handlers.
///
/// The descriptors become its standard input, output and error, and then 3 and so on. The program
/// inherits no other descriptor: a file that another test writes meanwhile could not be executed as
/// long as a program has it open.
func spawn(
  _ command: [String], environment changes: [String: String?], descriptors: [Int32]
) throws -> pid_t {
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  // Each descriptor is first copied to a number above all targets, so that no target overwrites a
  // descriptor that is still needed.
  let copies = descriptors.map { fcntl($0, F_DUPFD_CLOEXEC, Int32(descriptors.count)) }
  defer { copies.forEach { close($0) } }
  for (target, descriptor) in copies.enumerated() {
    posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(target))
  }
  posix_spawn_file_actions_addclosefrom_np(&actions, Int32(descriptors.count))

  var attributes = posix_spawnattr_t()
  posix_spawnattr_init(&attributes)
  defer { posix_spawnattr_destroy(&attributes) }
  var signals = sigset_t()
  sigemptyset(&signals)
  posix_spawnattr_setsigmask(&attributes, &signals)
  sigfillset(&signals)
  posix_spawnattr_setsigdefault(&attributes, &signals)
  let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
  posix_spawnattr_setflags(&attributes, Int16(flags))

  var environment = ProcessInfo.processInfo.environment
  for (name, value) in changes { environment[name] = value }
  // In a coverage build, each program would write a profile of 1 MB, which Scripts/coverage does
  // not read.
  environment["LLVM_PROFILE_FILE"] = "/dev/null"
  var arguments = command.map { strdup($0) } + [nil]
  var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
  defer { (arguments + variables).forEach { free($0) } }

  var processID: pid_t = 0
  let error = posix_spawnp(
    &processID, command[0], &actions, &attributes, &arguments, &variables)
  guard error == 0 else {
    throw ChildProcessError(message: "\(command[0]): \(String(cString: strerror(error)))")
  }
  return processID
}
