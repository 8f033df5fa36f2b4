// Made by “switchyard types --from firebase madePersons”. It makes the file again, without changes that are made here.

import Foundation
import Switchyard

/// A document of `madePersons`, as in the 4 that were sampled.
struct MadePerson: Codable, Sendable, Hashable {
    @DocumentID var id: String
    var age: Double
    var born: Timestamp?
    var `class`: Bool
    var firstName: String
    var friend: StoragePath?
    var holes: [Int?]?
    var home: Home
    var list: [List]?
    /// Values of several kinds: integer, string.
    var mixed: DocumentValue?
    var photo: Data?
    var tags: [String]
    var v: DocumentValue?

    private enum CodingKeys: String, CodingKey {
        case id
        case age
        case born
        case `class`
        case firstName = "first name"
        case friend
        case holes
        case home
        case list
        case mixed
        case photo
        case tags
        case v
    }

    struct Home: Codable, Sendable, Hashable {
        var city: String
        var geo: GeoPoint?
    }

    struct List: Codable, Sendable, Hashable {
        var a: Int
    }
}
