import Switchyard

/// The path of a key file as it was given, which may turn out to be the key itself, encoded, quoted or cut off: variables for one
/// are often set to the other. So it is printed only if it is clearly a path that was written down.
struct KeyFilePath: Sendable, Hashable {
    /// With the name of the variable it came from, if any.
    private let given: Secret

    init(_ given: Secret) { self.given = given }
    init(_ path: String) { given = Secret(path) }

    var path: String { given.reveal() }

    /// The path in a configuration file; a variable or a secret instead if it may not be printed.
    var plain: String? { given.name == nil && isClearlyPath ? path : nil }
    var secret: Secret { given }

    /// For errors and descriptions.
    var shown: String {
        if let name = given.name { return "the file that the variable \(name) names" }
        return plain.map { "the file “\($0)”" } ?? "a file whose path is not shown"
    }

    private var isClearlyPath: Bool {
        ["/", "./", "../", "~"].contains(where: path.hasPrefix) || path.hasSuffix(".json")
            ? Secret.mayBeShown(path) : false
    }

    /// Why there is no such file.
    var problem: String {
        if Secret.mayBeShown(path) { return "cannot be read. Is the path right?" }
        return
            "cannot be read: what is set looks like a key instead of a path. A key is given as the JSON text that Google's "
            + "console downloads, beginning with “{”: not encoded, and without quotes around it."
    }
}
