import Switchyard
import SwitchyardBytes
import SwitchyardText

/// Where a page of a query's results ended, as text: it needs nothing of the server, so a tab may come back after a restart.
struct PageCursor {
    let last: DocumentSnapshot
    /// How many documents the pages so far had.
    let delivered: Int

    init(last: DocumentSnapshot, delivered: Int, of query: Query) {
        let fields = query.effectiveOrders.map(\.field).filter { !$0.isDocumentID }
        self.last = .existing(last.path, last.data?.projected(to: fields) ?? [:])
        self.delivered = delivered
    }

    init(_ text: String) throws(PageFailure) {
        guard let bytes = Base64.decode(text, alphabet: .url), let json = try? JSON(parsing: bytes),
            let path = json["path"]?.string, let place = try? StoragePath(validating: path),
            let object = json["data"]?.object, let delivered = json["delivered"]?.int
        else { throw .invalid("“cursor” is none that the page was given. Begin again without one.") }
        var data = DocumentData()
        for member in object {
            guard let value = try? DocumentJSON.value(member.value) else { continue }
            data[member.key] = value
        }
        last = .existing(place, data)
        self.delivered = delivered
    }

    var text: String {
        let json = JSON.object([
            "path": .string(last.path.rawValue), "data": last.data?.json ?? [:], "delivered": .number(delivered),
        ])
        return Base64.encode(json.bytes(), alphabet: .url)
    }
}
