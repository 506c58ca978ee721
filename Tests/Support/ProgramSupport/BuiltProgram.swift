import Foundation

/// The programs that were built together with the running tests.
///
/// They are in the folder of the test program.
package enum BuiltProgram {
  package static func path(_ name: String) -> String {
    Bundle.main.bundleURL.appending(path: name).path
  }
}
