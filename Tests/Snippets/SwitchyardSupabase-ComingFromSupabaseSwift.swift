struct Todo: Codable {
    var title: String
    var done: Bool
}
