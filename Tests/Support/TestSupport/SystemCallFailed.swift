/// The error if the system refuses something that a test needs, such as a port.
package struct SystemCallFailed: Error, CustomStringConvertible {
  package let description: String

  package init(message: String) {
    description = message
  }
}
