import Dispatch
import SQLibC
import SequencingOAuth

/// The program: finds the command in the arguments, runs it, and exits with its status.
@main
struct SQDemo {
  /// The commands in the order of the help; without a name on the command line, the first one runs.
  ///
  /// To add a command, write a file for it and a line here.
  static let commands: [any Command.Type] = [
    Tour.self, Cookbook.self, Login.self, WhoAmI.self, Token.self, Discover.self, Call.self,
    Files.self, RPC.self, Watch.self, Accounts.self, Revoke.self, Logout.self, Sandbox.self,
    Explain.self, Completion.self,
  ]

  /// Ends the program at once, because all output is already written.
  ///
  /// A normal exit would first free OpenSSL's tables, and the threads of an interrupted transfer
  /// may still read them.
  private static func end(_ status: ExitStatus) -> Never {
    if ClosedOutput.isNoted, status != .notKept { StandardStreams.endByBrokenPipe() }
    _exit(status.rawValue)
  }

  private static func end(_ failure: Failure, _ console: Console) -> Never {
    console.report(failure)
    end(failure.status)
  }

  /// Returns the arguments without the program's own name.
  private static func words() throws(Failure) -> [String] {
    let arguments = CommandLine.arguments
    // Swift reads the arguments from /proc. Without /proc, even the program's name is missing, and
    // the program must not start the tour as it does for an empty command line.
    guard !arguments.isEmpty else {
      throw Failure(
        "no_arguments",
        "the program's arguments cannot be read, as on a system without /proc: mount it, and start "
          + "the program without a library that is loaded before it (LD_PRELOAD)",
        status: .notAuthorized)
    }
    // Swift replaces bytes that are not UTF-8: a path would name another file, and a name another
    // account.
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
    var console = Console()
    do throws(Failure) {
      let secrets = try Secrets.takeFromEnvironment()
      let words = try words()
      switch try Invocation(words, commands: commands, secrets: secrets) {
      case .run(let command, let network):
        try SystemResources.check()
        console.network = network
        let isVerbose = words.contains(Option.verbose.name)
        console = isVerbose ? console.tellingEvents : console.tellingWaits
        Task { [console] in await run(command, console) }
      case .print(let text):
        try console.result(text)
        end(.success)
      }
    } catch {
      end(error, console)
    }
    dispatchMain()
  }

  private static func run(_ command: any Command, _ console: Console) async {
    do throws(Failure) {
      try await Interrupts.cancelling { () async throws(Failure) in
        try await command.run(console)
      }
      await console.observer?.flush()
      end(.success)
    } catch {
      await console.observer?.flush()
      end(error, console)
    }
  }
}
