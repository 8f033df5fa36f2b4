import Foundation

/// A typical document: a dozen fields, some nested, and a list of small structs.
struct CodableSample: Codable, Equatable, Sendable {
    struct Address: Codable, Equatable {
        var street: String
        var city: String
        var zip: Int
    }
    struct Visit: Codable, Equatable {
        var place: String
        var at: Date
        var rating: Double?
    }
    enum Role: String, Codable { case member, admin }

    var name: String
    var email: String
    var age: Int
    var score: Double
    var isActive: Bool
    var role: Role
    var createdAt: Date
    var lastSeen: Date?
    var nickname: String?
    var address: Address
    var tags: [String]
    var counters: [String: Int]
    var visits: [Visit]

    init(_ index: Int) {
        name = "Person number \(index)"
        email = "person\(index)@example.org"
        age = 18 + index % 70
        score = Double(index) / 7
        isActive = index.isMultiple(of: 2)
        role = index.isMultiple(of: 10) ? .admin : .member
        createdAt = Date(timeIntervalSinceReferenceDate: 700_000_000 + Double(index))
        lastSeen = index.isMultiple(of: 3) ? nil : Date(timeIntervalSinceReferenceDate: 720_000_000 + Double(index))
        nickname = index.isMultiple(of: 4) ? "nick" : nil
        address = Address(street: "Some Long Street \(index % 200)", city: "Springfield", zip: 10_000 + index % 90_000)
        tags = ["red", "green", "a somewhat longer tag"]
        counters = ["logins": index % 50, "posts": index % 9]
        visits = (0..<3).map {
            Visit(
                place: "place \($0)", at: Date(timeIntervalSinceReferenceDate: 710_000_000 + Double($0)),
                rating: $0 == 1 ? nil : 4.5)
        }
    }
}
