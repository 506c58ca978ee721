import Dispatch
import Glibc

/// The program: finds the command that the arguments name, runs it, and exits with its status.
@main
struct SQDemo {
  /// Every command; to add a command, write a file for it and a line here.
  static let commands: [any Command.Type] = [
    Tour.self, Cookbook.self, Login.self, WhoAmI.self, Token.self, Call.self, Files.self,
    RPC.self, Watch.self, Accounts.self, Revoke.self, Logout.self, Sandbox.self, Completion.self,
  ]

  /// Ends the program at once; all output was written before.
  ///
  /// A normal exit would first free OpenSSL's tables, which the threads of an interrupted transfer
  /// may still read.
  private static func end(_ status: ExitStatus) -> Never {
    _exit(status.rawValue)
  }

  /// The arguments without the program's own name.
  private static func words() throws(Failure) -> [String] {
    let arguments = CommandLine.arguments
    // Swift reads them from /proc. Without that there is not even the program's name, and the
    // program must not take this for a call without arguments, which is the tour.
    guard !arguments.isEmpty else {
      throw Failure(
        "no_arguments",
        "the program's arguments cannot be read, as on a system without /proc: mount it, and start "
          + "the program without a library that is loaded before it (LD_PRELOAD)",
        status: .notAuthorized)
    }
    // Swift puts another character for what is no UTF-8: a path would be another file's, and a name
    // another account's.
    let pointers = UnsafeBufferPointer(
      start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
    for (number, pointer) in pointers.enumerated() {
      guard let pointer, String(validatingCString: pointer) == nil else { continue }
      throw .usage("argument \(number) is not text in UTF-8")
    }
    return Array(arguments.dropFirst())
  }

  static func main() {
    StandardStreams.prepare()
    let console = Console()
    do throws(Failure) {
      let secrets = try Secrets.takeFromEnvironment()
      switch try Invocation(words(), commands: commands, secrets: secrets) {
      case .run(let command):
        try SystemRoom.check()
        Task { await run(command, console) }
      case .print(let text):
        try console.result(text)
        end(.success)
      }
    } catch {
      console.report(error)
      end(error.status)
    }
    dispatchMain()
  }

  private static func run(_ command: any Command, _ console: Console) async {
    do throws(Failure) {
      try await Interrupts.cancelling { () async throws(Failure) in
        try await command.run(console)
      }
      end(.success)
    } catch {
      console.report(error)
      end(error.status)
    }
  }
}
