// "offstage/otel": spans to OpenTelemetry. Needs the package "@opentelemetry/api".
export { type OtelExporterOptions, otelExporter } from "../../tracing/exporters/otel.ts";
