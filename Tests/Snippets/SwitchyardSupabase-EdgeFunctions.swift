struct Greeting: Codable {
    var text: String
}
