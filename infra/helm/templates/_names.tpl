{{- define "sluice.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "sluice.selectorLabels" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "sluice.labels" -}}
{{ include "sluice.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "sluice.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ default $.Chart.AppVersion .tag }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The components of the mode. */}}
{{- define "sluice.components" -}}
{{- get (dict "allInOne" "all-in-one" "observe" "observe" "shadow" "shadow" "workers" "worker console" "roles" "watcher reconciler writer console") .Values.mode -}}
{{- end -}}

{{/* Those that read clusters, and those that write to them. */}}
{{- define "sluice.readers" -}}
{{- get (dict "allInOne" "all-in-one" "observe" "observe" "shadow" "shadow" "workers" "worker" "roles" "watcher") .Values.mode -}}
{{- end -}}
{{- define "sluice.writers" -}}
{{- get (dict "allInOne" "all-in-one" "observe" "" "shadow" "" "workers" "worker" "roles" "writer") .Values.mode -}}
{{- end -}}

{{/* The component of a fleet whose clusters review the tokens of readers; empty: none. */}}
{{- define "sluice.reviewer" -}}
{{- if and (include "sluice.isFleet" .) (eq .Values.console.authorizationMode "cluster") -}}console{{- end -}}
{{- end -}}

{{/* All that reach API servers. */}}
{{- define "sluice.clients" -}}
{{- printf "%s %s %s" (include "sluice.readers" .) (include "sluice.writers" .) (include "sluice.reviewer" .) | trim | splitList " " | uniq | compact | join " " -}}
{{- end -}}

{{- define "sluice.isFleet" -}}
{{- if has .Values.mode (list "workers" "roles") -}}true{{- end -}}
{{- end -}}

{{/* The enabled controllers, by their flags. */}}
{{- define "sluice.controllers" -}}
{{- $known := (.Files.Get "files/permissions.yaml" | fromYaml).controllers -}}
{{- range .Values.controllers -}}
{{- if not (has . $known) }}{{ fail (printf "controllers: %q is none of %s" . (join ", " $known)) }}{{ end -}}
{{- end -}}
{{- join " " (default $known .Values.controllers) -}}
{{- end -}}

{{/* The rules of these controllers for a kind of work in a namespace; an empty namespace: in all. */}}
{{- define "sluice.rules" -}}
{{- $enabled := splitList " " (include "sluice.controllers" .root) -}}
{{- range index (.root.Files.Get "files/permissions.yaml" | fromYaml) .work -}}
{{- $row := . -}}
{{- $needed := false -}}
{{- range $enabled }}{{ if has . $row.controllers }}{{ $needed = true }}{{ end }}{{ end -}}
{{- if and $needed (eq $row.namespace $.namespace) }}
- {{ toJson $row.rule }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The component that records to a volume; empty: none. */}}
{{- define "sluice.recorder" -}}
{{- $fleet := has .Values.mode (list "workers" "roles") -}}
{{- if eq .Values.mode "observe" -}}
observe
{{- else if .Values.recording.enabled -}}
{{- if not $fleet }}{{ fail (printf "recording.enabled: mode %s has no recording; set mode to observe, workers or roles" .Values.mode) }}{{ end -}}
{{- if ne (int .Values.components.console.replicas) 1 }}{{ fail "recording.enabled: one console records to a volume; set components.console.replicas to 1" }}{{ end -}}
console
{{- end -}}
{{- end }}

{{/* The name of the ConfigMap with the rules of problems; empty: none. */}}
{{- define "sluice.problems" -}}
{{- if .Values.problems -}}
{{- if not (include "sluice.recorder" .) }}{{ fail "problems: nothing is recorded; set mode to observe, or recording.enabled in mode workers or roles" }}{{ end -}}
{{ include "sluice.fullname" . }}-problems
{{- end -}}
{{- end -}}

{{/* The component with the console. */}}
{{- define "sluice.console" -}}
{{- include "sluice.components" . | splitList " " | last -}}
{{- end -}}

{{/* Where it listens: on loopback only, so that users need permission to forward ports. */}}
{{- define "sluice.consoleAddress" -}}
{{- default "127.0.0.1:10280" (get .Values.settings "SLUICE_CONSOLE_BIND_ADDRESS") -}}
{{- end }}
