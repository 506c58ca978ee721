import FoundationEssentials
import Glibc
import OAuthSandbox

// Prints a table of what the SDK costs beside the bare work that it cannot avoid. Build it with
// optimization; it ends by itself within a minute.

if CommandLine.arguments.contains(ByteServer.argument) { ByteServer.serve() }

let server = try ByteServer()
defer { server.stop() }
print(Table.header(baseline: "bare", subject: "SDK"))
for benchmark in try HTTPBenchmarks.all(server) {
  print(Table.row(try await benchmark.measure(rounds: 9)))
}
// Before the sandbox, which keeps every request that it gets.
print(try Memory.report())
let sandbox = try await SandboxServer.start()
for benchmark in SignInBenchmarks.all(sandbox) {
  print(Table.row(try await benchmark.measure(rounds: 9)))
}
await sandbox.stop()
