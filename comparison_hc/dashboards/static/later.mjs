export default {render: all => import(all.model.get("page")).then(page => page.default.render(all))};
