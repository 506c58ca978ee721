import Glibc

/// The program: finds the command that the arguments name, runs it, and ends with its status.
@main
struct SQDemo {
  /// Every command; adding one is a file of its own and a line here.
  static let commands: [any Command.Type] = [
    Tour.self, Cookbook.self, Login.self, Token.self, Call.self, Files.self, RPC.self,
    Watch.self, Accounts.self, Revoke.self, Logout.self, Sandbox.self, Completion.self,
  ]

  /// Ends at once; all that was to be written is written.
  ///
  /// An ordinary end first frees OpenSSL's tables, which the threads of a transfer that was
  /// interrupted may still read.
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
