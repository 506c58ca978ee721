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

  static func main() async {
    StandardStreams.prepare()
    let secrets = Secrets.takeFromEnvironment()
    let words = Array(CommandLine.arguments.dropFirst())
    let console = Console()
    do throws(Failure) {
      switch try Invocation(words, commands: commands, secrets: secrets) {
      case .run(let command):
        try await Interrupts.cancelling { () async throws(Failure) in
          try await command.run(console)
        }
      case .print(let text): try console.result(text)
      }
      end(.success)
    } catch {
      console.report(error)
      end(error.status)
    }
  }
}
