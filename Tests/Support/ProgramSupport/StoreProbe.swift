import Foundation

/// The built `store-probe`, which uses a store in a separate process.
package enum StoreProbe {
  package static let executable = BuiltProgram.path("store-probe")
}
