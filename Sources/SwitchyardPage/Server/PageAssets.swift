import SwitchyardServerKit
import SwitchyardWire

/// The files of the page, which the program carries in itself.
enum PageAssets {
    private struct Asset: Sendable {
        let bytes: [UInt8]
        let type: String
    }

    private static let html = "text/html; charset=utf-8"
    private static let css = "text/css; charset=utf-8"
    private static let script = "text/javascript; charset=utf-8"

    /// By name. The list of the target's resources in Package.swift has the same files.
    private static func asset(_ name: String) -> Asset? {
        switch name {
        case "accounts.js": Asset(bytes: PackageResources.accounts_js, type: script)
        case "acting.js": Asset(bytes: PackageResources.acting_js, type: script)
        case "api.js": Asset(bytes: PackageResources.api_js, type: script)
        case "app.css": Asset(bytes: PackageResources.app_css, type: css)
        case "app.js": Asset(bytes: PackageResources.app_js, type: script)
        case "connected.js": Asset(bytes: PackageResources.connected_js, type: script)
        case "data.js": Asset(bytes: PackageResources.data_js, type: script)
        case "dialogs.js": Asset(bytes: PackageResources.dialogs_js, type: script)
        case "document.js": Asset(bytes: PackageResources.document_js, type: script)
        case "dom.js": Asset(bytes: PackageResources.dom_js, type: script)
        case "events.js": Asset(bytes: PackageResources.events_js, type: script)
        case "explain.js": Asset(bytes: PackageResources.explain_js, type: script)
        case "faults.js": Asset(bytes: PackageResources.faults_js, type: script)
        case "fields.js": Asset(bytes: PackageResources.fields_js, type: script)
        case "files.js": Asset(bytes: PackageResources.files_js, type: script)
        case "grid.js": Asset(bytes: PackageResources.grid_js, type: script)
        case "index.html": Asset(bytes: PackageResources.index_html, type: html)
        case "messages.js": Asset(bytes: PackageResources.messages_js, type: script)
        case "outbox.js": Asset(bytes: PackageResources.outbox_js, type: script)
        case "requests.js": Asset(bytes: PackageResources.requests_js, type: script)
        case "source.js": Asset(bytes: PackageResources.source_js, type: script)
        case "state.js": Asset(bytes: PackageResources.state_js, type: script)
        case "stream.js": Asset(bytes: PackageResources.stream_js, type: script)
        case "undo.js": Asset(bytes: PackageResources.undo_js, type: script)
        case "values.js": Asset(bytes: PackageResources.values_js, type: script)
        default: nil
        }
    }

    /// Nothing else may be loaded by the page, and no other page may show it in a frame.
    static let policy =
        "default-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; style-src 'self'; script-src 'self'; "
        + "worker-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    static func answer(_ name: String) -> ServerResponse {
        guard let asset = asset(name) else {
            return .text("There is no such file.\n", status: 404)
        }
        return ServerResponse(
            headers: [
                "Content-Type": asset.type, "Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff",
                "Referrer-Policy": "no-referrer", "Cache-Control": "no-cache",
            ], body: asset.bytes)
    }
}
