struct User: Codable, Sendable {
    var name: String
    var age: Int
}
