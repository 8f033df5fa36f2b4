import Foundation
import Switchyard
import SwitchyardBytes

/// The query of an address, by name.
struct URLQuery {
    private let values: [(name: String, value: String)]

    init(_ url: URL) {
        let text = url.absoluteString
        let query = text.split(separator: "#", maxSplits: 1)[0].split(separator: "?", maxSplits: 1).dropFirst().first
        values = query.flatMap { FormCoding.decode($0) } ?? []
    }

    subscript(name: String) -> String? { values.first { $0.name == name }?.value }

    /// `base` with these values added to its query.
    static func url(_ base: String, _ values: KeyValuePairs<String, String>) throws(AuthError) -> URL {
        let query = values.map { "\($0.key)=\(PercentCoding.encode($0.value))" }.joined(separator: "&")
        guard let url = URL(string: base + (base.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + query) else {
            throw AuthError(.invalidArgument, "The redirect URL is invalid.")
        }
        return url
    }
}
