import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization

/// The events of a page, read as they arrive.
final class PageEvents: Sendable {
    struct Event: Sendable {
        let id: Int
        let name: String
        let data: JSON
    }

    private let state = Mutex((events: [Event](), isOver: false))
    private let reader = TaskBox()

    init(_ stream: HTTPStream) {
        reader.replace(
            with: Task { [weak self] in
                var text: [UInt8] = []
                do {
                    for try await piece in stream.body {
                        text += piece
                        while let end = Self.end(of: text) {
                            let event = Self.event(text[..<end])
                            text.removeFirst(end + 2)
                            guard let self else { return }
                            if let event { state.withLock { $0.events.append(event) } }
                        }
                    }
                } catch {}
                self?.state.withLock { $0.isOver = true }
            })
    }

    deinit { reader.cancel() }

    var all: [Event] { state.withLock { $0.events } }
    var isOver: Bool { state.withLock { $0.isOver } }

    func named(_ name: String) -> [JSON] { all.filter { $0.name == name }.map(\.data) }

    func stop() { reader.cancel() }

    /// Waits for an event.
    @discardableResult
    func first(_ name: String, _ what: String, where isMeant: (JSON) -> Bool = { _ in true }) async throws -> JSON {
        var found: JSON?
        try await eventually(what, within: .seconds(30)) {
            found = named(name).first(where: isMeant)
            return found != nil
        }
        return found ?? .null
    }

    private static func end(of text: [UInt8]) -> Int? {
        text.indices.dropLast().first { text[$0] == 10 && text[$0 + 1] == 10 }
    }

    /// `nil` for a comment.
    private static func event(_ bytes: ArraySlice<UInt8>) -> Event? {
        var (id, name, data) = (0, "", JSON.null)
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            if line.hasPrefix("id: ") { id = Int(line.dropFirst(4)) ?? 0 }
            if line.hasPrefix("event: ") { name = String(line.dropFirst(7)) }
            if line.hasPrefix("data: ") { data = (try? JSON(parsing: Array(line.dropFirst(6).utf8))) ?? .null }
        }
        return name.isEmpty ? nil : Event(id: id, name: name, data: data)
    }
}
